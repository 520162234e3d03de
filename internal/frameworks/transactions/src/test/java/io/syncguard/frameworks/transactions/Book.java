package io.syncguard.frameworks.transactions;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;

@Entity(name = "book")
class Book {

    @Id
    private String id;

    Book() {}

    Book(String id) {
        this.id = id;
    }
}
