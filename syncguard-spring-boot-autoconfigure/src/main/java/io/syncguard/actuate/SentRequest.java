package io.syncguard.actuate;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;
import org.springframework.http.server.PathContainer.Element;
import org.springframework.http.server.PathContainer.PathSegment;
import org.springframework.util.StringUtils;

/**
 * Compares what a client sent to what reaches the endpoint, which might release another lock otherwise. Spring cuts
 * {@code ;42} off {@code order;42}, replaces malformed UTF-8, joins parameters of one name, adds those of a form, and
 * lets a parameter replace the key of the path.
 *
 * @param path as it was sent
 * @param query as it was sent; {@code null} if there is none
 * @param parameters as they reach the endpoint
 */
public record SentRequest(PathContainer path, @Nullable String query, Map<String, List<String>> parameters) {

    /** The parameter that has the name of the variable in the path, see {@link SyncGuardEndpoint}. */
    private static final String KEY = "key";

    /** Why a request is refused. The texts need no escapes in JSON. */
    enum Refusal {
        PATH(
                "Invalid key",
                "The key in the path has a semicolon that is not encoded, or is malformed. Write %3B for a semicolon,"
                        + " or pass the key as ?key="),
        TWO_KEYS("Invalid key", "The path has a key, and so have the parameters. Pass the key in one of them only"),
        PARAMETERS(
                "Invalid parameter",
                "A parameter is given twice, is malformed, or is in the body. Give each parameter once, in the query"
                        + " of the URL, as UTF-8 with percent-encoding");

        private final String title;
        private final String detail;

        Refusal(String title, String detail) {
            this.title = title;
            this.detail = detail;
        }

        String title() {
            return title;
        }

        String detail() {
            return detail;
        }
    }

    /** Returns {@code null} if the parameters reach the endpoint as they were sent. */
    @Nullable
    Refusal refusalOfParameters() {
        return received().equals(sent()) ? null : Refusal.PARAMETERS;
    }

    /** Returns {@code null} if the last segment of the path reaches the endpoint as it was sent. */
    @Nullable
    Refusal refusalOfKeyInPath() {
        if (parameters.containsKey(KEY)) {
            return Refusal.TWO_KEYS;
        }
        List<Element> elements = path.elements();
        return !elements.isEmpty()
                        && elements.get(elements.size() - 1) instanceof PathSegment segment
                        && segment.valueToMatch().equals(decoded(segment.value()))
                ? null
                : Refusal.PATH;
    }

    /** A parameter without a value is an empty one. */
    private Map<String, List<String>> received() {
        return parameters.entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey,
                        each -> each.getValue().stream()
                                .map(value -> Objects.requireNonNullElse(value, ""))
                                .toList()));
    }

    /** Returns {@code null} if a parameter is malformed, or is given twice. */
    private @Nullable Map<String, List<String>> sent() {
        Map<String, List<String>> sent = new HashMap<>();
        for (String each : StringUtils.tokenizeToStringArray(query, "&", false, true)) {
            int end = each.indexOf('=');
            String name = ofQuery(end < 0 ? each : each.substring(0, end));
            String value = ofQuery(end < 0 ? "" : each.substring(end + 1));
            if (name == null || value == null || sent.put(name, List.of(value)) != null) {
                return null;
            }
        }
        return sent;
    }

    private static @Nullable String ofQuery(String text) {
        return decoded(text.replace("+", "%20"));
    }

    /** Returns {@code null} if the text is malformed. A byte that is not encoded reaches Spring as one character. */
    private static @Nullable String decoded(String text) {
        try {
            byte[] bytes = StringUtils.uriDecode(text, ISO_8859_1).getBytes(ISO_8859_1);
            return UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        } catch (CharacterCodingException | IllegalArgumentException ex) {
            return null;
        }
    }
}
