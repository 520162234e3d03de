/** Hunts for planted bugs, to see that the harness catches them. */
package io.syncguard.verification.planted;
