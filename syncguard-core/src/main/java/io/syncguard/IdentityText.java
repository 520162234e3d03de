package io.syncguard;

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Finds what {@link Object#toString()} makes of an object, {@code shop.Order@49cb5030}, within a text. Its number
 * differs for each object and in each process, so two callers for the same data would have two keys.
 *
 * <p>A name and a number alone are no proof: {@code bob@cafe} is an address. The name has to be that of a class, in a
 * package whose classes this process has loaded.
 */
final class IdentityText {

    /** The hash of an object. In {@code shop.Sales@acme.com} a domain follows. */
    private static final Pattern HASH = Pattern.compile("[0-9a-f]{1,8}+(?![g-zG-Z]|[.][A-Za-z])");

    /** What stands behind the brackets in the name of a class of arrays. */
    private static final Pattern ELEMENT = Pattern.compile("[ZBCDFIJS]|L[^;]+;");

    private static final Pattern GENERATED = Pattern.compile("\\$\\$Lambda|/0x[0-9a-f]{16}$|\\$Proxy\\d+$");

    private IdentityText() {}

    /** The first such text; {@code null} if there is none. */
    static @Nullable String in(String text) {
        int first = text.indexOf('@');
        if (first < 0) {
            return null;
        }
        Matcher hash = HASH.matcher(text);
        for (int at = first; at >= 0; at = text.indexOf('@', at + 1)) {
            String name = nameBefore(text, at);
            if (!name.isEmpty() && hash.region(at + 1, text.length()).lookingAt()) {
                int start = startOfClass(name);
                if (start >= 0) {
                    return name.substring(start) + '@' + hash.group();
                }
            }
        }
        return null;
    }

    /** The name may follow other letters, as in {@code order_shop.Order@1f}. */
    private static String nameBefore(String text, int end) {
        int start = end;
        while (start > 0 && isOfName(text.codePointBefore(start))) {
            start -= Character.charCount(text.codePointBefore(start));
        }
        return text.substring(start, end);
    }

    private static boolean isOfName(int codePoint) {
        return Character.isJavaIdentifierPart(codePoint) || ".[;/+".indexOf(codePoint) >= 0;
    }

    /** The start of the class name at the end of the text; negative if the text ends with no class name. */
    private static int startOfClass(String text) {
        int bracket = text.lastIndexOf('[');
        if (bracket >= 0 && ELEMENT.matcher(text.substring(bracket + 1)).matches()) {
            return startOfBrackets(text, bracket);
        }
        if (GENERATED.matcher(text).find()) {
            return 0;
        }
        int dot = text.lastIndexOf('.');
        return dot < 0 || dot + 1 == text.length() || !Character.isUpperCase(text.charAt(dot + 1))
                ? -1
                : startOfPackage(text, dot);
    }

    private static int startOfBrackets(String text, int last) {
        int start = last;
        while (start > 0 && text.charAt(start - 1) == '[') {
            start--;
        }
        return start;
    }

    private static int startOfPackage(String text, int end) {
        Set<ClassLoader> loaders = loaders();
        for (int start = 0; start < end; start++) {
            if (Character.isJavaIdentifierStart(text.charAt(start)) && isLoaded(text.substring(start, end), loaders)) {
                return start;
            }
        }
        return -1;
    }

    /** Never loads a class: class loaders remember each name that they look up, and this one may come from a user. */
    private static boolean isLoaded(String packageName, Set<ClassLoader> loaders) {
        for (ClassLoader each : loaders) {
            if (each.getDefinedPackage(packageName) != null) {
                return true;
            }
        }
        return Platform.PACKAGES.contains(packageName);
    }

    private static Set<ClassLoader> loaders() {
        Set<ClassLoader> loaders = new LinkedHashSet<>();
        addWithParents(Thread.currentThread().getContextClassLoader(), loaders);
        addWithParents(IdentityText.class.getClassLoader(), loaders);
        return loaders;
    }

    private static void addWithParents(@Nullable ClassLoader loader, Set<ClassLoader> loaders) {
        for (ClassLoader each = loader; each != null && loaders.add(each); each = each.getParent()) {}
    }

    /** The packages of the JDK, which do not change. They are collected when the first text needs them. */
    private static final class Platform {

        static final Set<String> PACKAGES = ModuleLayer.boot().modules().stream()
                .flatMap(module -> module.getPackages().stream())
                .collect(Collectors.toUnmodifiableSet());
    }
}
