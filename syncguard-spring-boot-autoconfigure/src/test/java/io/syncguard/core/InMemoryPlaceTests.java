package io.syncguard.core;

class InMemoryPlaceTests extends PlaceContract {

    @Override
    protected ContractStore emptyStore() {
        return new InMemoryContractStore();
    }
}
