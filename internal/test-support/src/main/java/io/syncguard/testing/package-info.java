/** Test support that several modules share: servers, proxies, child processes, captured logs. */
package io.syncguard.testing;
