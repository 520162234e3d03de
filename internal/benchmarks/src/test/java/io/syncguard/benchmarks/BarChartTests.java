package io.syncguard.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.StringReader;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

/** Shows that charts are whole: each value has a bar of its length, with name and number. */
class BarChartTests {

    @Test
    void each_value_has_one_bar_of_its_length() throws Exception {
        Document svg = parse(chart(Axis.linear(600)).svg());

        assertThat(bars(svg).map(bar -> bar.getAttribute("width"))).containsExactly("100", "300", "600");
        assertThat(bars(svg).map(Element::getTextContent))
                .containsExactly("one: 100", "<two> & \"2\": 300", "one: 600");
    }

    @Test
    void names_values_title_and_unit_are_written() throws Exception {
        assertThat(texts(parse(chart(Axis.linear(600)).svg())))
                .contains("A title", "one", "<two> & \"2\"", "16 threads", "300", "pairs per second");
    }

    @Test
    void nothing_is_drawn_outside_of_the_picture() throws Exception {
        Document svg = parse(chart(Axis.logarithmic(100, 600)).svg());
        int width = number(svg.getDocumentElement(), "width");
        int height = number(svg.getDocumentElement(), "height");

        assertThat(elements(svg, "rect")).allSatisfy(rect -> {
            assertThat(number(rect, "x") + number(rect, "width")).isBetween(0, width);
            assertThat(number(rect, "y") + number(rect, "height")).isBetween(0, height);
        });
        assertThat(elements(svg, "text")).allSatisfy(text -> {
            assertThat(number(text, "x")).isBetween(0, width);
            assertThat(number(text, "y")).isBetween(0, height);
        });
    }

    @Test
    void pairs_have_three_charts_with_a_bar_for_each_candidate_and_load() throws Exception {
        Map<String, List<Double>> candidates = new LinkedHashMap<>();
        candidates.put("SyncGuard", List.of(200.0, 300.0, 100.0));
        candidates.put("ShedLock", List.of(50.0, 100.0, 100.0));
        Map<String, Map<String, List<Double>>> byLoad = Map.of("64 threads", candidates);
        PairCharts charts = new PairCharts(Store.POSTGRES, byLoad, byLoad);

        assertThat(bars(parse(charts.pairsPerSecond().svg())).map(Element::getTextContent))
                .containsExactly("SyncGuard: 200", "ShedLock: 100");
        assertThat(bars(parse(charts.latency().svg())).map(Element::getTextContent))
                .containsExactly("SyncGuard: 200", "ShedLock: 100");
        // Not the ratio of the medians: that of each round is 4, 3 and 1.
        assertThat(bars(parse(charts.ratios().svg())).map(Element::getTextContent))
                .containsExactly("SyncGuard: 3.00", "ShedLock: 1.00");
    }

    @Test
    void the_linear_axis_has_round_steps_from_zero_to_above_the_maximum() {
        assertThat(Axis.linear(5441).ticks()).containsExactly(0.0, 1000.0, 2000.0, 3000.0, 4000.0, 5000.0, 6000.0);
        assertThat(Axis.linear(1.34).ticks()).startsWith(0.0).last().isEqualTo(1.5);
        assertThat(Axis.linear(5441).position(3000)).isCloseTo(0.5, within(1e-9));
    }

    @Test
    void the_axis_has_short_numbers() throws Exception {
        assertThat(texts(parse(chart(Axis.linear(1.1)).svg()))).contains("0", "0.2", "0.4", "0.6", "0.8", "1", "1.2");
        assertThat(texts(parse(chart(Axis.logarithmic(0.01, 2000)).svg())))
                .contains("0.001", "0.01", "10", "100", "1\u00a0000");
    }

    @Test
    void the_logarithmic_axis_goes_from_below_the_minimum_to_the_maximum() {
        assertThat(Axis.logarithmic(1, 1000).ticks()).containsExactly(0.1, 1.0, 10.0, 100.0, 1000.0);
        assertThat(Axis.logarithmic(1.25, 900).position(100)).isCloseTo(2 / 3.0, within(1e-9));
    }

    @Test
    void numbers_are_short_and_readable() {
        assertThat(Stream.of(0.8, 12.34, 99.96, 964.4, 12_345.6).map(BarChart::text))
                .containsExactly("0.80", "12.3", "100.0", "964", "12\u00a0346");
    }

    private static BarChart chart(Axis axis) {
        Map<String, Double> first = new LinkedHashMap<>();
        first.put("one", 100.0);
        first.put("<two> & \"2\"", 300.0);
        Map<String, Map<String, Double>> groups = new LinkedHashMap<>();
        groups.put("1 thread", first);
        groups.put("16 threads", Map.of("one", 600.0));
        return new BarChart("A title", "pairs per second", axis, groups);
    }

    private static Document parse(String svg) throws Exception {
        return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new InputSource(new StringReader(svg)));
    }

    private static Stream<Element> bars(Document svg) {
        return elements(svg, "rect").filter(rect -> rect.getAttribute("class").equals("bar"));
    }

    private static List<String> texts(Document svg) {
        return elements(svg, "text").map(Element::getTextContent).toList();
    }

    private static Stream<Element> elements(Document svg, String name) {
        NodeList found = svg.getElementsByTagName(name);
        return IntStream.range(0, found.getLength()).mapToObj(each -> (Element) found.item(each));
    }

    private static int number(Element element, String attribute) {
        return Integer.parseInt(element.getAttribute(attribute));
    }
}
