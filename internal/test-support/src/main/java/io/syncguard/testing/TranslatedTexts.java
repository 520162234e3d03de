package io.syncguard.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.regex.Pattern;
import org.postgresql.util.GT;

/** Texts of the system and of PostgreSQL's driver, which are in the language of the user who runs the tests. */
public final class TranslatedTexts {

    private static final String REFUSED = "Connection refused";

    private static final String[] DRIVER = {
        "The connection attempt failed.",
        "Connection to {0} refused. Check that the hostname and port are correct and that the postmaster is accepting"
                + " TCP/IP connections."
    };

    private TranslatedTexts() {}

    /** Returns what the system says if nobody listens at a port. */
    public static String connectionRefused() {
        try {
            new Socket(InetAddress.getLoopbackAddress(), 1).close();
            throw new IllegalStateException("Somebody listens at port 1");
        } catch (ConnectException ex) {
            return String.valueOf(ex.getMessage());
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** Returns the text with the parts of the system and of the driver in English. */
    public static String inEnglish(String text) {
        String english = text.replace(connectionRefused(), REFUSED);
        for (String each : DRIVER) {
            // The library removes the full stop.
            String original = each.replaceFirst("\\.$", "");
            Pattern translated =
                    Pattern.compile("\\Q" + GT.tr(each, "\\E(\\S+)\\Q").replaceFirst("\\.$", "") + "\\E");
            english = translated.matcher(english).replaceAll(original.replace("{0}", "$1"));
        }
        return english;
    }
}
