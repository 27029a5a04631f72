/* The checker of pictures, and that it can fail. */
#include "test.h"

#include "xml.h"

static const struct {
    const char *text, *fault; /* NULL: none */
} texts[] = {
    {"<a/>", NULL},
    {"<?xml version=\"1.0\"?>\n<!DOCTYPE a>\n<a b='1' c=\"2\">x<d/>y &lt; &#8217; <!-- < & -->"
     "<![CDATA[ if (a < b && c) ]]></a>\n\n",
     NULL},
    {"<a b = '1' c= \"2\"></a >", NULL},
    {"<a b b='1'/>", "byte 6: an attribute without ="},
    {"<a>猫 ' \"</a>", NULL},
    {"", "byte 0: nothing is there"},
    {"text", "byte 0: text outside of the root"},
    {"<a>", "byte 3: the end comes too early"},
    {"<a><b></a></b>", "byte 9: an end without its beginning"},
    {"<a/><b/>", "byte 6: a second root"},
    {"<a>x & y</a>", "byte 5: an entity that is not known"},
    {"<a>&nbsp;</a>", "byte 3: an entity that is not known"},
    {"<a>1 < 2</a>", "byte 6: < without a name"},
    {"<a b=1/>", "byte 6: an attribute without quotes"},
    {"<a b='1/>", "byte 9: an attribute without its end"},
    {"<a b='<'/>", "byte 6: < in an attribute"},
    {"<a b='1' b='2'/>", "byte 14: an attribute twice"},
    {"<a b='1'c='2'/>", "byte 8: no blank before an attribute"},
    {"<a>\x1b[2J</a>", "byte 4: a character that XML forbids"},
    {"<a>\xff</a>", "byte 3: no UTF-8"},
    {"<a><!-- x </a>", "byte 14: a part without its end"},
};

START_TEST(faults_are_found)
{
    const char *fault = xml_fault(texts[_i].text, strlen(texts[_i].text));

    if (texts[_i].fault)
        ck_assert_pstr_eq(fault, texts[_i].fault);
    else
        ck_assert_msg(!fault, "%s", fault ? fault : "");
}
END_TEST

START_TEST(numbers_that_are_none_are_found)
{
    ck_assert_pstr_eq(xml_bad_number("<a><path d='M1,2 L3,-nan'/></a>"), "M1,2 L3,-nan");
    ck_assert_pstr_eq(xml_bad_number("<a x=\"inf\"/>"), "inf");
    ck_assert_pstr_eq(xml_bad_number("<a b='1' x='INF'/>"), "INF");
    ck_assert_ptr_null(xml_bad_number("<a b='infinite finance banana' c='1'>nan inf</a>"));
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "faults", faults_are_found, sizeof texts / sizeof *texts);
    add_test(suite, "numbers", numbers_that_are_none_are_found);
}
