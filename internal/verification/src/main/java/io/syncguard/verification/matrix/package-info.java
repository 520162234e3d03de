/** The fault matrix: applications at work on real servers, each fault injected many times, and what held. */
package io.syncguard.verification.matrix;
