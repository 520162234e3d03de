package io.syncguard;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OneLineTests {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "order:42",
                "\\n",
                "\u0417\u0430\u043a\u0430\u0437",
                "\u05e9\u05dc\u05d5\u05dd",
                "\ud83d\udc69\u200d\ud83d\udcbb"
            })
    void a_text_of_one_line_stays_as_it_is(String text) {
        assertThat(OneLine.of(text)).isEqualTo(text);
    }

    @Test
    void what_ends_or_hides_a_line_is_escaped() {
        assertThat(OneLine.of("a\r\nb\tc")).isEqualTo("a\\u000d\\u000ab\\u0009c");
        assertThat(OneLine.of("\u001b[31m")).as("a terminal's colour").isEqualTo("\\u001b[31m");
        assertThat(OneLine.of("a\u0085b\u2028c\u2029")).isEqualTo("a\\u0085b\\u2028c\\u2029");
        assertThat(OneLine.of("\u202e\u2066\u2069")).as("directions").isEqualTo("\\u202e\\u2066\\u2069");
        assertThat(OneLine.of("\ud83d")).as("half of a character").isEqualTo("\\ud83d");
    }

    @Test
    void every_message_of_an_exception_is_one_line() {
        assertThat(new LockNotAcquiredException("a\nb", "Lock 'a\nb' is held").getMessage())
                .isEqualTo("Lock 'a\\u000ab' is held");
    }
}
