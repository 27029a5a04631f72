# bench_sizes.gp - how much of the machine's peak each size reaches: bars.
#
# gnuplot 5.4 or newer. bench sets before:
#   output, svg          the picture's name; 1: an SVG, else a PNG
#   who, array name[who] those who were timed, and the number of their colour, tint[who]
#   machine              words for the title
#   $sizes               "SIZE MASK" and a column of per cents for each of them

rows = |$sizes|
width = 300 + rows * (24 + 13 * who)
width = width < 700 ? 700 : width
if (svg) set terminal svg noenhanced size width,520 font 'Sans,12' background '#ffffff'
if (!svg && strstrt(GPVAL_TERMINALS, ' pngcairo ')) set terminal pngcairo noenhanced size width,520 font 'Sans,12'
if (!svg && !strstrt(GPVAL_TERMINALS, ' pngcairo ')) set terminal png noenhanced size width,520 medium
set encoding utf8
set output output

set linetype 1 lc rgb '#0072B2'
set linetype 2 lc rgb '#999999'
set linetype 3 lc rgb '#E69F00'
set linetype 4 lc rgb '#009E73'
set linetype 5 lc rgb '#D55E00'

set title sprintf('Forward and backward, of the peak of multiply-adds (%s)', machine)
set style data histogram
set style histogram clustered gap 1
set style fill solid 0.9 noborder
set boxwidth 0.9
set yrange [0:100]
set ytics 0,10 nomirror
set ylabel '% of the peak'
set xtics rotate by 35 right nomirror scale 0
set grid ytics lc rgb '#d8d8d8' lt 1
set border 3 lc rgb '#404040'
set key outside right top vertical Left reverse
if (who == 1) { unset key }

plot for [i = 1:who] $sizes using i + 1:xtic(1) lt tint[i] title name[i]
unset output
