/**
 * Support for classes of Spring Boot 3 that have another package in Spring Boot 4. Spring Boot 4 uses nothing of this.
 */
@NullMarked
package io.syncguard.boot3;

import org.jspecify.annotations.NullMarked;
