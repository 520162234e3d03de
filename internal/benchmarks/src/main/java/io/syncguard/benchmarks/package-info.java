/** Measures the figures of docs/internals/benchmarks.md. */
@NullMarked
package io.syncguard.benchmarks;

import org.jspecify.annotations.NullMarked;
