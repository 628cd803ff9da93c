const tables = (() => ({ start() {}, show() {} }))();
