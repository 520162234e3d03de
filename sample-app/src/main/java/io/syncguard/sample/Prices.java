package io.syncguard.sample;

import java.util.Map;
import java.util.TreeMap;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/**
 * The table of prices. Each row has the edition of the list to which it belongs.
 */
@Repository
class Prices {

    private final JdbcClient jdbc;

    Prices(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    PriceList read() {
        Map<String, Integer> prices = new TreeMap<>();
        long edition = jdbc.sql("SELECT DISTINCT edition FROM prices")
                .query(Long.class)
                .single();
        jdbc.sql("SELECT sku, cents FROM prices").query(row -> {
            prices.put(row.getString("sku"), row.getInt("cents"));
        });
        return new PriceList(edition, prices);
    }

    void write(String sku, int cents, long edition) {
        jdbc.sql("UPDATE prices SET cents = :cents, edition = :edition WHERE sku = :sku")
                .param("sku", sku)
                .param("cents", cents)
                .param("edition", edition)
                .update();
    }
}
