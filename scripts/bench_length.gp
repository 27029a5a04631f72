# bench_length.gp - time and memory of a step against the length of the sequence.
#
# gnuplot 5.4 or newer. bench sets before:
#   output, svg          the picture's name; 1: an SVG, else a PNG
#   who, array name[who] those who were timed, and the number of their colour, tint[who]
#   machine              words for the title
#   shortest, longest    T
#   $length_P_CAUSAL     P from 0, CAUSAL 0 or 1: "T MILLISECONDS MB" lines

if (svg) set terminal svg noenhanced size 1100,520 font 'Sans,12' background '#ffffff'
if (!svg && strstrt(GPVAL_TERMINALS, ' pngcairo ')) set terminal pngcairo noenhanced size 1100,520 font 'Sans,12'
if (!svg && !strstrt(GPVAL_TERMINALS, ' pngcairo ')) set terminal png noenhanced size 1100,520 medium
set encoding utf8
set output output

array color[5] = ['#0072B2', '#999999', '#E69F00', '#009E73', '#D55E00']
set logscale xy
set xlabel 'length of the sequence, T'
set xtics ('512' 512, '1k' 1024, '2k' 2048, '4k' 4096, '8k' 8192, '16k' 16384, '32k' 32768, '65k' 65536)
set grid xtics ytics lc rgb '#d8d8d8' lt 1
set border 3 lc rgb '#404040'
set xtics nomirror
set key bottom right samplen 3 spacing 0.95
set ytics nomirror
set xrange [shortest / 1.15:longest * 1.15]

# One plot command for each column: 2 is time, 3 is memory.
array command[3]
do for [column = 2:3] {
    command[column] = ''
    do for [p = 0:who - 1] {
        do for [causal = 0:1] {
            block = sprintf('$length_%d_%d', p, causal)
            eval sprintf('points = |%s|', block)
            if (points > 0) {
                command[column] = command[column].sprintf("%s using 1:%d with linespoints lw 2 ps 0.8 ", block, column). \
                    sprintf("pt %d dt %d lc rgb '%s' ", causal ? 6 : 7, causal ? 2 : 1, color[tint[p + 1]]). \
                    sprintf("title '%s %s', ", name[p + 1], causal ? 'causal' : 'full')
            }
        }
    }
}

set multiplot layout 1,2 title sprintf('One step of forward and backward (%s)', machine)
set ylabel 'milliseconds'
eval 'plot '.command[2].'NaN notitle'
set ylabel 'MB of memory that a step adds'
unset key
eval 'plot '.command[3].'NaN notitle'
unset multiplot
unset output
