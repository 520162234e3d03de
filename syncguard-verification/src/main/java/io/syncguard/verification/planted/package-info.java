/** Bugs that are planted into the library, to see that the harness catches them. */
package io.syncguard.verification.planted;
