CREATE TABLE orders (id text PRIMARY KEY, fence bigint NOT NULL);
