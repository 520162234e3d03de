/** What a build did not run. */
@NullMarked
package io.syncguard.notrun;

import org.jspecify.annotations.NullMarked;
