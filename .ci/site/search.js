// The search of the site: its index is loaded when the field gets the focus, and nothing is sent anywhere.
"use strict";
(() => {
    const root = new URL(".", document.currentScript.src);
    let loading;

    function load() {
        loading ??= new Promise((resolve, reject) => {
            const script = document.createElement("script");
            script.src = new URL("search-index.js", root);
            script.onload = () => resolve(window.siteEntries.map((entry) => ({ entry, title: entry[0].toLowerCase(), text: entry[3].toLowerCase() })));
            script.onerror = reject;
            document.head.append(script);
        });
        return loading;
    }

    // How well an entry fits the words: all of them have to be in it; the beginning of its title counts most.
    function rank(one, words, whole) {
        let sum = 0;
        for (const word of words) {
            const place = one.title.indexOf(word);
            if (place >= 0) sum += place === 0 ? 12 : /[\w]/.test(one.title[place - 1]) ? 4 : 8;
            else if (one.text.includes(word)) sum += 2;
            else return 0;
        }
        if (one.title === whole) sum += 40;
        else if (one.title.startsWith(whole)) sum += 10;
        if (one.entry[2] === "symbol" && !one.title.includes(".")) sum += 4;
        return sum - Math.min(one.title.length, 60) / 20;
    }

    async function find(query, most) {
        const whole = query.trim().toLowerCase();
        if (!whole) return [];
        const words = whole.split(/\s+/);
        const found = (await load()).map((one) => [rank(one, words, whole), one.entry]).filter((pair) => pair[0] > 0);
        return found.sort((a, b) => b[0] - a[0]).slice(0, most).map((pair) => pair[1]);
    }

    function show(list, entries, query) {
        list.replaceChildren(...entries.map(([title, place, kind, text]) => {
            const link = document.createElement("a");
            link.href = new URL(place, root);
            const [name, word, line] = ["b", "i", "span"].map((tag) => document.createElement(tag));
            [name.textContent, word.textContent, line.textContent] = [title, kind, text];
            link.append(name, word, line);
            return link;
        }));
        if (!entries.length) list.textContent = `Nothing was found for “${query}”.`;
    }

    function begin() {
        const form = document.querySelector(".site-search");
        const input = form.querySelector("input");
        const list = document.createElement("div");
        list.className = "site-results";
        list.hidden = true;
        form.append(list);
        let chosen = -1;
        input.addEventListener("focus", load, { once: true });
        input.addEventListener("input", async () => {
            const query = input.value;
            const entries = await find(query, 12);
            if (query !== input.value) return;
            chosen = -1;
            list.hidden = !query.trim();
            show(list, entries, query);
        });
        input.addEventListener("keydown", (event) => {
            const links = [...list.querySelectorAll("a")];
            if (event.key === "Escape") list.hidden = true;
            if (event.key === "ArrowDown" || event.key === "ArrowUp") {
                event.preventDefault();
                chosen = Math.max(-1, Math.min(links.length - 1, chosen + (event.key === "ArrowDown" ? 1 : -1)));
                links.forEach((link, place) => link.classList.toggle("chosen", place === chosen));
                links[chosen]?.scrollIntoView({ block: "nearest" });
            }
            if (event.key === "Enter" && chosen >= 0) {
                event.preventDefault();
                location.href = links[chosen].href;
            }
            event.stopPropagation();
        });
        document.addEventListener("click", (event) => { if (!form.contains(event.target)) list.hidden = true; });

        const results = document.getElementById("results");
        const query = new URLSearchParams(location.search).get("q");
        if (results && query) {
            input.value = query;
            find(query, 100).then((entries) => show(results, entries, query));
        }
        if (location.protocol === "file:" && document.getElementById("app")) {
            const notice = document.createElement("p");
            notice.className = "site-file";
            notice.textContent = "This page needs a server, which make docs-open starts.";
            form.parentElement.after(notice);
        }
        // On a narrow screen the list of pages would stand before the text.
        if (matchMedia("(max-width: 60rem)").matches) document.querySelectorAll(".site-side details").forEach((one) => { one.open = false; });
    }

    if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
    else begin();
})();
