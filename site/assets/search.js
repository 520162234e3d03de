// Searches the text of all sections (SECTIONS) without a server: the pages also work from the file system.
const root = document.currentScript.dataset.root;
const field = document.getElementById('search');
const found = document.getElementById('found');
const text = document.getElementById('text');
lunr.tokenizer.separator = /[^\p{L}\p{N}]+/u;
let index;

function indexed() {
    return lunr(function () {
        this.field('page', {boost: 3});
        this.field('heading', {boost: 5});
        this.field('body');
        SECTIONS.forEach(([, page, heading, body], id) => this.add({id, page, heading, body}));
    });
}

function search(words) {
    const all = sectionsWith(words, lunr.Query.presence.REQUIRED);
    return all.length ? all : sectionsWith(words, lunr.Query.presence.OPTIONAL);
}

// Words also count if they only begin so: the last one may not be complete yet.
function sectionsWith(words, presence) {
    const stems = index.pipeline.run(lunr.tokenizer(words).filter(lunr.stopWordFilter));
    return index.query(query => stems.forEach(stem => {
        query.term(stem.toString(), {usePipeline: false, boost: 10});
        query.term(stem.toString(), {usePipeline: false, wildcard: lunr.Query.wildcard.TRAILING, presence});
    }));
}

function excerpt(body, words) {
    const first = Math.max(0, body.toLowerCase().indexOf(words.trim().split(/\s+/)[0].toLowerCase()) - 60);
    return (first > 0 ? '… ' : '') + body.slice(first, first + 200) + (body.length > first + 200 ? ' …' : '');
}

function item({ref}, words) {
    const [address, page, heading, body] = SECTIONS[ref];
    const link = document.createElement('a');
    link.href = root + address;
    link.textContent = page === heading ? page : page + ': ' + heading;
    link.addEventListener('click', () => show(''));
    const shown = document.createElement('li');
    shown.append(link, document.createElement('br'), excerpt(body, words));
    return shown;
}

function show(words) {
    field.value = words;
    found.hidden = !words.trim();
    text.hidden = !found.hidden;
    if (!found.hidden) {
        index ??= indexed();
        const results = search(words).slice(0, 30).map(each => item(each, words));
        found.replaceChildren(...results.length ? results : ['Nothing found']);
    }
}

field.addEventListener('input', () => show(field.value));
// A menu that fills a narrow screen begins closed.
document.querySelector('nav details').open = matchMedia('(min-width: 60rem)').matches;
