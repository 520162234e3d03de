package io.syncguard.core;

class InMemoryDirectHandOverTests extends DirectHandOverContract {

    @Override
    protected ContractStore emptyStore() {
        return new InMemoryContractStore();
    }
}
