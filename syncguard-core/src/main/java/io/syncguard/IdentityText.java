package io.syncguard;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Finds what {@link Object#toString()} makes of an object, {@code shop.Order@49cb5030}, within a text. Its number
 * differs for each object and in each process, so two callers for the same data would have two keys.
 *
 * <p>A name and a number alone are no proof: {@code bob@cafe} is an address. The name has to be that of a class, in a
 * package whose classes this process has loaded.
 */
final class IdentityText {

    /**
     * A name and the hash of an object. The name may follow other letters, as in {@code order_shop.Order@1f}. In
     * {@code shop.Sales@acme.com} a domain follows.
     */
    private static final Pattern CANDIDATE =
            Pattern.compile("([\\p{javaJavaIdentifierPart}.\\[;/+]++)@[0-9a-f]{1,8}+(?![g-zG-Z]|[.][A-Za-z])");

    private static final Pattern ARRAY = Pattern.compile("\\[+(?:[ZBCDFIJS]|L[^;\\[]+;)$");

    private static final Pattern GENERATED = Pattern.compile("\\$\\$Lambda|/0x[0-9a-f]{16}$|\\$Proxy\\d+$");

    private IdentityText() {}

    /** The first such text; {@code null} if there is none. */
    static @Nullable String in(String text) {
        if (text.indexOf('@') < 0) {
            return null;
        }
        Matcher candidates = CANDIDATE.matcher(text);
        while (candidates.find()) {
            int start = startOfClass(candidates.group(1));
            if (start >= 0) {
                return candidates.group().substring(start);
            }
        }
        return null;
    }

    /** The start of the class name at the end of the text; negative if the text ends with no class name. */
    private static int startOfClass(String text) {
        Matcher array = ARRAY.matcher(text);
        if (array.find()) {
            return array.start();
        }
        if (GENERATED.matcher(text).find()) {
            return 0;
        }
        int dot = text.lastIndexOf('.');
        return dot < 0 || dot + 1 == text.length() || !Character.isUpperCase(text.charAt(dot + 1))
                ? -1
                : startOfPackage(text, dot);
    }

    private static int startOfPackage(String text, int end) {
        for (int start = 0; start < end; start++) {
            if (isLoaded(text.substring(start, end))) {
                return start;
            }
        }
        return -1;
    }

    /** Never loads a class: class loaders remember each name that they look up, and this one may come from a user. */
    private static boolean isLoaded(String packageName) {
        return isLoaded(packageName, Thread.currentThread().getContextClassLoader())
                || isLoaded(packageName, IdentityText.class.getClassLoader())
                || ModuleLayer.boot().modules().stream()
                        .anyMatch(module -> module.getPackages().contains(packageName));
    }

    private static boolean isLoaded(String packageName, @Nullable ClassLoader loader) {
        for (ClassLoader each = loader; each != null; each = each.getParent()) {
            if (each.getDefinedPackage(packageName) != null) {
                return true;
            }
        }
        return false;
    }
}
