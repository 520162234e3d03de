package io.syncguard.portable;

import io.syncguard.testing.MariaDbServer;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The portable store in MariaDB, with both drivers and with settings that an application or a server may have. */
class MariaDbSettingsTests {

    private static final String[] SETTINGS = {
        "allowMultiQueries=false",
        "allowMultiQueries=true&useServerPrepStmts=true&cachePrepStmts=true",
        "rewriteBatchedStatements=true",
        "useAffectedRows=true",
        "sessionVariables=sql_mode=''",
        "sessionVariables=sql_mode='ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT,ONLY_FULL_GROUP_BY'",
        "sessionVariables=sql_mode='ORACLE,EMPTY_STRING_IS_NULL'",
        "sessionVariables=time_zone='-05:00'",
        "sessionVariables=tx_isolation='SERIALIZABLE'",
        "sessionVariables=autocommit=0",
        "sessionVariables=innodb_lock_wait_timeout=1"
    };

    static Stream<String> urls() {
        return Stream.of("jdbc:mariadb:", "jdbc:mysql:")
                .flatMap(driver -> Arrays.stream(SETTINGS).map(settings -> driver + " " + settings));
    }

    @ParameterizedTest
    @MethodSource("urls")
    void keeps_locks_with_each_driver_and_setting(String row) {
        String[] words = row.split(" ");
        String url = MariaDbServer.newDatabaseUrl().replaceFirst("jdbc:\\w+:", words[0]);
        UsualLife.passes(new MySqlDialect(), url + "&" + words[1]);
    }
}
