package io.syncguard.autoconfigure;

import io.syncguard.DistributedLock;
import io.syncguard.aop.LockNames;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Set;
import java.util.TreeSet;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigurationPackages;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.core.type.classreading.MetadataReaderFactory;
import org.springframework.core.type.classreading.SimpleMetadataReaderFactory;
import org.springframework.util.ClassUtils;

/**
 * Scans the classes in the packages of an application, whether they are beans or not: classes of another profile, of a
 * child context or of another test slice have names in the same settings.
 */
final class PackageTypes {

    private static final Log log = LogFactory.getLog(PackageTypes.class);

    private PackageTypes() {}

    /** Returns the names of the locks of their methods. */
    static Set<String> lockNames(ConfigurableListableBeanFactory beans, LockNames names) {
        Set<String> found = new TreeSet<>();
        if (AutoConfigurationPackages.has(beans)) {
            AutoConfigurationPackages.get(beans).stream()
                    .filter(name -> !name.isEmpty())
                    .forEach(name -> addLockNames(name, beans.getBeanClassLoader(), names, found));
        }
        return found;
    }

    private static void addLockNames(
            String name, @Nullable ClassLoader classLoader, LockNames names, Set<String> found) {
        PathMatchingResourcePatternResolver resolver = new PathMatchingResourcePatternResolver(classLoader);
        MetadataReaderFactory readers = new SimpleMetadataReaderFactory(resolver);
        for (Resource file : filesOf(name, resolver)) {
            try {
                AnnotationMetadata metadata = readers.getMetadataReader(file).getAnnotationMetadata();
                if (metadata.hasAnnotation(DistributedLock.class.getName())
                        || metadata.hasAnnotatedMethods(DistributedLock.class.getName())) {
                    found.addAll(names.of(ClassUtils.forName(metadata.getClassName(), classLoader)));
                }
            } catch (IOException | ClassNotFoundException | RuntimeException | LinkageError ex) {
                log.debug("Cannot read " + file + ", so it is no bean of this application", ex);
            }
        }
    }

    private static Resource[] filesOf(String name, PathMatchingResourcePatternResolver resolver) {
        try {
            return resolver.getResources(
                    "classpath*:" + ClassUtils.convertClassNameToResourcePath(name) + "/**/*.class");
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
