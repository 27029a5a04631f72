# attention.gp - where each head looks at the end: attention.npy -> attention.png
#
# Run it in a run directory; gnuplot 5.4 or newer. gnuplot reads numbers out of
# an .npy file, but neither its header nor words from elsewhere, so these are
# set before:
#   output                    the picture's name
#   skip                      bytes before the first panel's numbers
#   layers, heads             of the run
#   queries, keys             rows and columns of a map
#   step                      the step of the frame, -1 where unknown
#   array label[labels]       the tokens' labels; labels is 0 for none
#   label_columns             columns of the widest label
#   $right, rights            "key query" of the right keys, and how many

panels = queries * keys == 0 ? 0 : (layers * heads < 8 ? layers * heads : 8)
columns = panels <= 1 ? 1 : (panels == 2 || panels == 4 ? 2 : (panels <= 6 ? 3 : 4))
rows = panels == 0 ? 1 : (panels + columns - 1) / columns

# In pixels: a panel grows with its rows of labels, from 260 to 560; `room` is
# for the labels themselves.
largest = queries > keys ? queries : keys
side = labels > 0 ? 40 + 17 * largest : 340
side = side < 260 ? 260 : (side > 560 ? 560 : side)
room = 16 + 8 * (labels > 0 ? label_columns : 3)
step_x = side + room + 30
step_y = side + room + 54
width = columns * step_x + 110
height = rows * step_y + 40

if (strstrt(GPVAL_TERMINALS, ' pngcairo ')) set terminal pngcairo noenhanced size width,height font 'Sans,10'
if (!strstrt(GPVAL_TERMINALS, ' pngcairo ')) set terminal png noenhanced size width,height small
set encoding utf8
set output output

set palette defined (0 '#440154', 1 '#472c7a', 2 '#3b518b', 3 '#2c718e', 4 '#21908d', \
                     5 '#27ad81', 6 '#5cc863', 7 '#aadc32', 8 '#fde725')
set cbrange [0:1]
set cbtics 0,0.2,1
set cblabel 'attention weight'
set border lc rgb '#404040'
set tics out nomirror scale 0.5
set xrange [-0.5:keys - 0.5]
set yrange [queries - 0.5:-0.5]
set size ratio -1
unset key

if (labels == keys) {
    set xtics () rotate by 90 right
    do for [i = 1:labels] { set xtics add (label[i] i - 1) }
}
if (labels == queries) {
    set ytics ()
    do for [i = 1:labels] { set ytics add (label[i] i - 1) }
}

title = (step < 0 ? 'Attention' : sprintf('Attention at step %d', step)).(rights > 0 ? ' (boxes: right keys)' : '')
set multiplot title title font ',13'
do for [panel = 0:panels - 1] {
    column = panel % columns
    row = panel / columns
    x = 26.0 + room + column * step_x
    y = height - 60.0 - side - row * step_y
    set lmargin at screen x / width
    set rmargin at screen (x + side) / width
    set bmargin at screen y / height
    set tmargin at screen (y + side) / height
    set title sprintf('layer %d, head %d', panel / heads, panel % heads)
    set label 1 'query' at screen (x - room - 12) / width, screen (y + side / 2) / height center rotate by 90
    set label 2 'key' at screen (x + side / 2) / width, screen (y - room - 10) / height center
    set colorbox user origin screen (width - 76.0) / width, screen y / height \
        size screen 14.0 / width, screen (1.0 * side) / height
    if (panel > 0) { unset colorbox }
    here = skip + 4.0 * queries * keys * panel
    file = sprintf("'attention.npy' binary skip=%.0f format='%%float32' endian=little ", here)
    map = file.sprintf('array=(%d,%d) with image', keys, queries)
    # An image takes at least two rows and columns.
    cells = file.sprintf('record=%d using (int($0) %% keys):(int($0) / keys):(0.5):(0.5):1 ', keys * queries). \
        'with boxxyerror fs solid noborder fc palette'
    if (keys < 2 || queries < 2) { map = cells }
    boxes = rights == 0 ? '' : ", $right using 1:2:(0.5):(0.5) with boxxyerror fs empty lw ".(labels > 0 ? '1.5' : '0.6')." lc rgb '#ff6f3c'"
    eval 'plot '.map.boxes
}
unset multiplot
if (panels == 0) {
    set label 1 'no data' at graph 0.5, graph 0.5 center textcolor rgb '#606060'
    plot [0:1] [0:1] NaN notitle
}
unset output
