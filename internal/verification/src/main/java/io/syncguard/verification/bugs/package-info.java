/** Planted bugs, which show that the harness catches them. Each replaces a part of the library. */
package io.syncguard.verification.bugs;
