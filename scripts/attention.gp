# attention.gp - where each head looks: maps of attention.npy, on one page or many
#
# gnuplot 5.4 or newer. gnuplot reads numbers out of an .npy file, but neither
# its header nor words from elsewhere, so these are set before:
#   output, svg, gif            the picture's name; what it is, a PNG where neither is 1
#   gif_font                    of an animation
#   file                        attention.npy
#   queries, keys               rows and columns of a map
#   coefficients                1: weights of any sign, the sizes of which are drawn
#   full                        what the brightest cell stands for
#   pages, page_title[pages]    of an animation; else one
#   panels, columns             maps of a page, side by side
#   first_key, last_key         the keys that are shown
#   place[], caption[]          of each panel of each page: bytes before its weights
#   array label[labels]         the tokens' labels; labels is 0 for none
#   label_columns               columns of the widest label
#   $right, rights              "key query" of the right keys, and how many

columns = columns < 1 ? 1 : columns
rows = panels == 0 ? 1 : (panels + columns - 1) / columns
last_key = last_key < first_key ? first_key : last_key

# In pixels: a panel grows with its rows of labels, to between `least` and
# `most`; `room` is for the labels themselves, which stand on the left and below
# only.
across = 1.0 * (last_key - first_key + 1)
largest = queries > across ? queries : across
least = gif ? (panels > 4 ? 150 : 200) : 260
most = gif ? 420 : 560
side = labels > 0 ? 40 + (gif ? 12 : 17) * largest : 340
side = side < least ? least : (side > most ? most : side)
cell = side / (largest < 1 ? 1 : largest)
side_x = cell * across
side_y = cell * (queries < 1 ? 1 : queries)
room = 16 + 8 * (labels > 0 ? label_columns : 3)
step_x = (side_x < 170 ? 170 : side_x) + 24
step_y = side_y + 40
width = 56 + room + columns * step_x + 76
width = width < 420 ? 420 : width
height = 50 + rows * step_y + room + 24

size = sprintf('noenhanced size %d,%d ', width, height)
cairo = strstrt(GPVAL_TERMINALS, ' pngcairo ')
can_move = strstrt(GPVAL_TERMINALS, ' gif ') && strstrt(GPVAL_COMPILE_OPTIONS, '+ANIMATION')
if (gif && !can_move) exit error 'this gnuplot makes no animated GIF'
if (gif) eval 'set terminal gif animate optimize delay 8 loop 0 '.size.'font gif_font'
if (svg) eval 'set terminal svg '.size."font 'sans-serif,10' background '#ffffff'"
if (!gif && !svg && cairo) eval 'set terminal pngcairo '.size."font 'Sans,10'"
if (!gif && !svg && !cairo) eval 'set terminal png '.size.'small'
set encoding utf8
set output output

set palette defined (0 '#440154', 1 '#472c7a', 2 '#3b518b', 3 '#2c718e', 4 '#21908d', \
                     5 '#27ad81', 6 '#5cc863', 7 '#aadc32', 8 '#fde725')
set cbrange [0:full]
if (full == 1) { set cbtics 0,0.2,1 }
set cblabel coefficients ? 'size of the weight' : 'attention weight'
size_of(w) = coefficients ? abs(w) : w
set border lc rgb '#404040'
set tics out nomirror scale 0.5
set xrange [first_key - 0.5:last_key + 0.5]
set yrange [queries - 0.5:-0.5]
set size ratio -1
unset key

do for [page = 1:pages] {
    set multiplot title page_title[page] font (gif ? '' : ',13')
    do for [panel = 0:panels - 1] {
        column = panel % columns
        row = panel / columns
        x = 44.0 + room + column * step_x
        y = height - 74.0 - side_y - row * step_y
        set lmargin at screen x / width
        set rmargin at screen (x + side_x) / width
        set bmargin at screen y / height
        set tmargin at screen (y + side_y) / height
        index = (page - 1) * panels + panel + 1
        set title caption[index]
        unset label
        set xtics autofreq scale 0 format ''
        set ytics autofreq scale 0 format ''
        if (column == 0) {
            set label 1 'query' at screen (x - room - 14) / width, screen (y + side_y / 2) / height center rotate by 90
            set ytics scale 0.5 format '%g'
            if (labels == queries) {
                set ytics ()
                do for [i = 1:labels] { set ytics add (label[i] i - 1) }
            }
        }
        if (panel + columns >= panels) {
            set label 2 'key' at screen (x + side_x / 2) / width, screen (y - room - 10) / height center
            set xtics scale 0.5 format '%g' norotate
            if (labels == keys) {
                set xtics () rotate by 90 right
                do for [i = 1:labels] { set xtics add (label[i] i - 1) }
            }
        }
        unset colorbox
        if (panel == 0) {
            set colorbox user origin screen (44.0 + room + columns * step_x) / width, screen y / height \
                size screen 14.0 / width, screen (1.0 * side_y) / height
        }
        binary = sprintf("file binary skip=%.0f format='%%float32' endian=little ", place[index])
        map = binary.sprintf('array=(%d,%d) using (size_of($1)) with image', keys, queries)
        # An image takes at least two rows and columns.
        cells = binary.sprintf('record=%d using (int($0) %% keys):(int($0) / keys):(0.5):(0.5):(size_of($1)) ', keys * queries). \
            'with boxxyerror fs solid noborder fc palette'
        if (keys < 2 || queries < 2) { map = cells }
        boxes = rights == 0 ? '' : ", $right using 1:2:(0.5):(0.5) with boxxyerror fs empty lw ".(labels > 0 ? '1.5' : '0.6')." lc rgb '#ff6f3c'"
        eval 'plot '.map.boxes
    }
    unset multiplot
}
if (panels == 0) {
    unset xtics
    unset ytics
    set label 1 'no data' at graph 0.5, graph 0.5 center textcolor rgb '#606060'
    plot [0:1] [0:1] NaN notitle
}
unset output
