package io.syncguard.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.w3c.dom.Element;
import org.xml.sax.InputSource;

/** The dependencies that a reader copies are modules of this build, in its version. */
class DependencyBlockTests {

    private static final Pattern COORDINATES = Pattern.compile("\"([\\w.]+):([\\w-]+)(?::([\\w.-]+))?\"");

    @ParameterizedTest
    @MethodSource("xml")
    void a_dependency_for_maven_is_published_in_this_version(DocumentBlock block) throws Exception {
        Element dependency = DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new InputSource(new StringReader(block.text())))
                .getDocumentElement();

        assertThat(dependency.getTagName()).isEqualTo("dependency");
        assertThat(text(dependency, "groupId")).isEqualTo("io.syncguard");
        assertThat(published()).contains(text(dependency, "artifactId"));
        assertThat(text(dependency, "version")).isEqualTo(version());
    }

    @Test
    void a_dependency_for_gradle_is_published_in_this_version_or_has_that_of_the_bom() throws Exception {
        List<DocumentBlock> blocks = DocumentBlock.in("groovy");
        assertThat(blocks).isNotEmpty();
        String bom = Files.readString(DocumentBlock.ROOT.resolve("syncguard-bom/pom.xml"));
        for (DocumentBlock block : blocks) {
            List<MatchResult> dependencies =
                    COORDINATES.matcher(block.text()).results().toList();
            assertThat(dependencies).as(block.name()).isNotEmpty();
            for (MatchResult dependency : dependencies) {
                assertThat(dependency.group(1)).isEqualTo("io.syncguard");
                assertThat(published()).contains(dependency.group(2));
                if (dependency.group(3) == null) {
                    assertThat(bom).contains("<artifactId>" + dependency.group(2) + "</artifactId>");
                } else {
                    assertThat(dependency.group(3)).isEqualTo(version());
                }
            }
        }
    }

    static Stream<DocumentBlock> xml() {
        return DocumentBlock.in("xml").stream().filter(block -> !block.isSample());
    }

    private static String text(Element parent, String child) {
        return parent.getElementsByTagName(child).item(0).getTextContent();
    }

    /** All modules in the root of the project have this group, and all are published except the sample. */
    private static List<String> published() throws IOException {
        try (Stream<Path> modules = Files.list(DocumentBlock.ROOT)) {
            return modules.filter(module -> Files.exists(module.resolve("pom.xml")))
                    .map(module -> module.getFileName().toString())
                    .filter(name -> name.startsWith("syncguard-"))
                    .toList();
        }
    }

    private static String version() throws Exception {
        return DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(DocumentBlock.ROOT.resolve("pom.xml").toFile())
                .getElementsByTagName("version")
                .item(0)
                .getTextContent();
    }
}
