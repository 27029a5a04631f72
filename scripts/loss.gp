# loss.gp - how a run learned: metrics.tsv -> loss.png
#
# Run it in a run directory; gnuplot 5.4 or newer. Reads metrics.tsv only.
# output    the picture's name, loss.png unless it is set before.
#
# A series without one finite number is left out; rows that are not finite are
# gaps. Ranges are set from what is finite, so that no series can empty them.

if (!exists("output")) output = 'loss.png'
if (strstrt(GPVAL_TERMINALS, ' pngcairo ')) set terminal pngcairo noenhanced size 1000,600 font 'Sans,12'
if (!strstrt(GPVAL_TERMINALS, ' pngcairo ')) set terminal png noenhanced size 1000,600 medium
set encoding utf8
set datafile separator tab
set datafile columnheaders

# The first columns of metrics.tsv. Their finite numbers and the ends of these
# become count_NAME, low_NAME and high_NAME.
names = 'step loss eval_loss accuracy target_mass'
is_finite(i) = valid(i) && abs(column(i)) < 1e305
do for [i = 1:words(names)] {
    stats 'metrics.tsv' using (is_finite(i) ? column(i) : NaN) nooutput
    some = exists('STATS_records')
    eval sprintf("count_%s = some ? STATS_records : 0", word(names, i))
    eval sprintf("low_%s = some ? STATS_min : 0", word(names, i))
    eval sprintf("high_%s = some ? STATS_max : 0", word(names, i))
    undefine STATS_*
}

# Up to 60 points are marked one by one: a point between two gaps is no line.
style(name, point) = value('count_'.name) <= 60 ? sprintf('linespoints pt %d ps 0.8', point) : 'lines'
# Training loss breaks off where it is not finite. The others are measured at
# some steps only, and their line joins those: a row without a number repeats
# the point before it.
array last_x[words(names)]
array last_y[words(names)]
do for [i = 1:words(names)] {
    last_x[i] = NaN
    last_y[i] = NaN
}
broken(i) = sprintf("1:(is_finite(%d) ? column(%d) : NaN)", i, i)
joined(i) = sprintf("(is_finite(%d) ? (last_y[%d] = column(%d), last_x[%d] = column(1)) : last_x[%d]):(last_y[%d])", \
    i, i, i, i, i, i)
curve(i, points, axes, point, dash, color, title) = value('count_'.word(names, i)) == 0 ? '' : \
    sprintf("'metrics.tsv' using %s axes %s with %s lw 2 ", points, axes, style(word(names, i), point)). \
    sprintf("dt %d lc rgb '%s' title '%s', ", dash, color, title)
curves = curve(2, broken(2), 'x1y1', 7, 1, '#0072B2', 'training loss'). \
    curve(3, joined(3), 'x1y1', 5, 2, '#D55E00', 'held-out loss'). \
    curve(4, joined(4), 'x1y2', 9, 4, '#009E73', 'accuracy'). \
    curve(5, joined(5), 'x1y2', 11, 5, '#CC79A7', 'target mass')

low = 0.0
high = 0.0
do for [name in 'loss eval_loss'] {
    low = value('low_'.name) < low ? value('low_'.name) : low
    high = value('high_'.name) > high ? value('high_'.name) : high
}
if (high <= low) high = low + 1
widen = high_step > low_step ? 0 : 1

set xrange [low_step - widen:high_step + widen]
set yrange [low:high + 0.05 * (high - low)]
set y2range [0:1.05]
set xlabel 'step'
set ylabel count_accuracy > 0 ? 'loss (nats)' : 'loss' # of reals a mean of squares
set y2label 'accuracy, target mass (share, 0 to 1)'
set xtics nomirror
set ytics nomirror
set y2tics 0,0.2,1
set grid xtics ytics lc rgb '#d8d8d8' lt 1
set border lc rgb '#404040'
set key outside top center horizontal
if (curves eq '') set label 'no data' at graph 0.5, graph 0.5 center textcolor rgb '#606060'

set output output
eval 'plot '.curves.'NaN notitle'
unset output
