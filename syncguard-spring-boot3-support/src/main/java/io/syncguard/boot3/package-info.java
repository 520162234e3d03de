/**
 * What the library does with classes of Spring Boot 3 that have another package in Spring Boot 4, where nothing of this
 * is used.
 */
@NullMarked
package io.syncguard.boot3;

import org.jspecify.annotations.NullMarked;
