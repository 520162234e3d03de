/** One application on several versions of Spring Boot: nothing here may have another name in one of them. */
package io.syncguard.compatibility;
