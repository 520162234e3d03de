package io.syncguard.sample;

import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/**
 * Makes reports on demand.
 */
@RestController
final class ReportController {

    private static final int MAX_SECONDS = 60;

    private final ReportService reports;

    ReportController(ReportService reports) {
        this.reports = reports;
    }

    @PostMapping("/reports/{id}")
    Report create(@PathVariable String id, @RequestParam int seconds) throws InterruptedException {
        return reports.create(id, Parameters.between(1, MAX_SECONDS, "seconds", seconds));
    }
}
