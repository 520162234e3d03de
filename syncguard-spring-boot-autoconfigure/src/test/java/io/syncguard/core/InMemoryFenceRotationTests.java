package io.syncguard.core;

class InMemoryFenceRotationTests extends FenceRotationContract {

    @Override
    protected ContractStore emptyStore() {
        return new InMemoryContractStore();
    }
}
