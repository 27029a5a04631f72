#include "attn/sha256.h"

#include "test.h"

static const char *digest(const void *data, size_t n)
{
    static char hex[ATTN_SHA256_HEX];

    attn_sha256_of(hex, data, n);
    return hex;
}

/* Messages of FIPS 180-4's examples and of lengths around a block's end. */
START_TEST(known_answers)
{
    static const struct {
        const char *message, *hex;
    } known[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrl"
         "m"
         "nopqrsmnopqrstnopqrstu",
         "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        ck_assert_str_eq(digest(known[i].message, strlen(known[i].message)), known[i].hex);
}
END_TEST

START_TEST(a_million_times_a)
{
    static char message[1000000];

    memset(message, 'a', sizeof message);
    ck_assert_str_eq(digest(message, sizeof message),
                     "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}
END_TEST

/* Lengths where the padding just fits and just does not. */
START_TEST(lengths_around_a_block)
{
    static const struct {
        size_t n;
        const char *hex;
    } known[] = {
        {55, "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072"},
        {56, "04c26261370ee7541549d16dee320c723e3fd14671e66a099afe0a377c16888e"},
        {63, "75220b47218278e656f2013bb8f0c455a25eaf01e86c64924e9d48d89776d6f2"},
        {64, "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c"},
        {65, "9537c5fdf120482f7d58d25e9ed583f52c02b4e304ea814db1633ad565aed7e9"},
        {119, "000b48d4edf0fa7bee3c6236ecd2785baa5db4eeb8bb54341b029e0d9fa5fb0c"},
        {120, "13f05a0b594787f5ecd315edc96141bd3243203d1b7d4f0836f37308b276ba98"},
        {128, "24da1b81d0b16df6428eee73c69fcb2a93c76bc6df706f0c6670fe6bfe800464"},
    };
    char message[200];

    memset(message, 'x', sizeof message);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        ck_assert_str_eq(digest(message, known[i].n), known[i].hex);
}
END_TEST

START_TEST(pieces_make_no_difference)
{
    unsigned char message[300];
    char whole[ATTN_SHA256_HEX], hex[ATTN_SHA256_HEX];

    for (int i = 0; i < 300; i++) message[i] = (unsigned char)(i * 7);
    strcpy(whole, digest(message, sizeof message));
    for (size_t step = 1; step < 300; step++) {
        struct attn_sha256 s;
        attn_sha256_begin(&s);
        for (size_t i = 0; i < 300; i += step)
            attn_sha256_add(&s, message + i, 300 - i < step ? 300 - i : step);
        attn_sha256_add(&s, NULL, 0);
        attn_sha256_end(&s, hex);
        ck_assert_str_eq(hex, whole);
    }
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "known answers", known_answers);
    add_test(suite, "a million", a_million_times_a);
    add_test(suite, "lengths", lengths_around_a_block);
    add_test(suite, "pieces", pieces_make_no_difference);
}
