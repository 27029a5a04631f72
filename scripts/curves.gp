# curves.gp - panels of curves over the steps of a training.
#
# gnuplot 5.4 or newer. Set before:
#   output, svg                  the picture's name; 1: an SVG, else a PNG
#   title, x_label               words
#   x_low, x_high                the range of all panels; x_logarithmic: whether its axis is
#   panels, and for each from 1: y_label, note, low, high (the range), logarithmic,
#     points (in all; 0: no data), first and last (curve)
#   for each curve from 1: curve_title, tint, drawn, dots, band, mark (whether there are any),
#     $curve_N, $dots_N, $mark_N ("X Y" lines) and $band_N ("X LOW HIGH")

columns = panels < 2 ? 1 : 2
rows = (panels + columns - 1) / columns
width = columns == 1 ? 900 : 1200
most = 0
do for [p = 1:panels] { if (last[p] - first[p] + 1 > most) { most = last[p] - first[p] + 1 } }
longest = 0
do for [c = 1:last[panels]] { if (strlen(curve_title[c]) > longest) { longest = strlen(curve_title[c]) } }
# A legend for which there is no room is left out whole.
abreast = longest < 12 ? 4 : longest < 24 ? 2 : 1
key_rows = (most + abreast - 1) / abreast
height = 44 + rows * (410 + 19 * key_rows)
size = sprintf('noenhanced size %d,%d ', width, height)
if (svg) eval 'set terminal svg '.size."font 'sans-serif,12' background '#ffffff'"
if (!svg && strstrt(GPVAL_TERMINALS, ' pngcairo ')) eval 'set terminal pngcairo '.size."font 'Sans,12'"
if (!svg && !strstrt(GPVAL_TERMINALS, ' pngcairo ')) eval 'set terminal png '.size.'medium'
set encoding utf8
set output output

# Okabe & Ito's colours, which the colour-blind can tell apart; dashes and marks
# do it on paper without colour.
array color[8] = ['#0072B2', '#D55E00', '#009E73', '#CC79A7', '#E69F00', '#56B4E9', '#000000', '#7F6A00']
array dash[8] = ['solid', '(9,4)', '(3,3)', '(10,4,2,4)', '(10,4,2,4,2,4)', '(16,5)', '(6,3,6,8)', '(16,4,4,4)']
array sign[8] = [7, 5, 9, 11, 13, 15, 6, 4]

set grid xtics ytics lc rgb '#d8d8d8' lt 1
set border 3 lc rgb '#404040'
set xtics nomirror
if (!x_logarithmic && x_high - x_low < 8) { set xtics 1 } # steps are whole
set ytics nomirror
set xlabel x_label
set xrange [x_low - 0.01 * (x_high - x_low):x_high + 0.01 * (x_high - x_low)]
if (x_logarithmic) { set logscale x; set xrange [x_low / 1.1:x_high * 1.1] }
set key outside top center horizontal samplen 3.2

set multiplot layout rows,columns title title font ',14'
do for [p = 1:panels] {
    bands = ''
    lines = ''
    marks = ''
    do for [c = first[p]:last[p]] {
        style = sprintf("lc rgb '%s' ", color[tint[c]])
        if (drawn[c]) {
            if (band[c]) {
                bands = bands.sprintf('$band_%d using 1:2:3 with filledcurves ', c).style. \
                    'fs transparent solid 0.18 noborder notitle, '
            }
            name = curve_title[c] eq '' ? 'notitle, ' : sprintf('title curve_title[%d], ', c)
            lines = lines.sprintf('$curve_%d with lines lw 2 dt %s ', c, dash[tint[c]]).style.name
            if (dots[c]) {
                lines = lines.sprintf('$dots_%d with points pt %d ps 0.7 ', c, sign[tint[c]]).style.'notitle, '
            }
            if (mark[c]) {
                marks = marks.sprintf('$mark_%d with points pt 7 ps 1.5 ', c).style.'notitle, '. \
                    sprintf("$mark_%d with points pt 6 ps 1.5 lw 1.5 lc rgb '#000000' notitle, ", c)
            }
        }
    }
    unset logscale y
    set format y '%g'
    if (logarithmic[p]) {
        set logscale y
        set format y high[p] / low[p] < 1e5 ? '%g' : '%.0e'
    }
    set yrange [low[p]:high[p]]
    set ylabel y_label[p]
    unset label
    if (points[p] == 0) { set label 1 'no data' at graph 0.5, graph 0.5 center textcolor rgb '#606060' }
    if (note[p] ne '') { set label 2 note[p] at graph 0.99, graph 0.03 right font ',10' textcolor rgb '#606060' }
    eval 'plot '.bands.lines.marks.'NaN notitle'
}
unset multiplot
unset output
