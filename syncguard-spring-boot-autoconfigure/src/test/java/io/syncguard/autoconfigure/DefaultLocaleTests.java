package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockTemplate;
import java.util.Locale;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The library sends the same texts under every default locale, even if its digits or lower-case letters differ. */
class DefaultLocaleTests {

    private final Locale before = Locale.getDefault();

    @AfterEach
    void setBack() {
        Locale.setDefault(before);
    }

    @ParameterizedTest
    @ValueSource(strings = {"ar-EG", "fa-IR", "ne-NP", "th-TH-u-nu-thai", "tr-TR"})
    void an_application_locks_under_any_default_locale(String locale) {
        TestDatabase database = TestDatabase.empty();
        Locale.setDefault(Locale.forLanguageTag(locale));

        Applications.on(database.url())
                .withPropertyValues("syncguard.postgres.locks-table=MY_LOCKS")
                .run(application -> {
                    assertThat(application).hasNotFailed();
                    LockTemplate locks = application.getBean(LockTemplate.class);
                    String fence = locks.execute("order:1", lock -> lock.fence().toString());
                    assertThat(fence).isEqualTo("000000000000001");
                });
    }
}
