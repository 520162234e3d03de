/**
 * An order service that shows the locks at work: orders (the annotation), reports (the heartbeat), stock (the template
 * and the fence), quotes (permits), totals (a scheduled job that runs once among all instances), settlement (one
 * instance leads and does it).
 */
@NullMarked
package io.syncguard.sample;

import org.jspecify.annotations.NullMarked;
