// index.js: the page of the runs in a folder, without a server.
document.addEventListener('DOMContentLoaded', () => {
    find.start();
    document.body.dataset.ready = '';
});
