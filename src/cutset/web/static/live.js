// Keeps a page up to date while something runs. Elements are changed in place, so that whoever reads keeps the focus,
// the place and what was unfolded.

const ANNOUNCE_MS = 10000; // between two status lines, for who listens to the page

const root = document.querySelector("[data-live]");
const status = document.getElementById("live-status");
let source = null;
let seen = root.dataset.version;
let announced = 0;
let ended = false;

function say(text, now) {
  if (!now && Date.now() - announced < ANNOUNCE_MS) return;
  announced = Date.now();
  if (status.textContent !== text) status.textContent = text;
}

function open() {
  if (source || ended) return;
  source = new EventSource(`${root.dataset.live}?seen=${encodeURIComponent(seen)}`);
  source.onopen = () => root.classList.remove("stale");
  source.onmessage = (event) => {
    seen = event.lastEventId;
    const { parts, status: words } = JSON.parse(event.data);
    for (const [id, html] of Object.entries(parts)) {
      const element = document.getElementById(id);
      if (!element) return location.reload(); // a part that the page did not have yet
      renew(element, html);
    }
    say(`Live: ${words}`, false);
  };
  source.addEventListener("end", (event) => {
    ended = true;
    close();
    document.querySelector(`#running:has(a[href="${location.pathname}"])`)?.remove();
    say(`Ended: ${JSON.parse(event.data).status}`, true);
  });
  source.onerror = () => {
    root.classList.add("stale");
    const lost = source.readyState === EventSource.CLOSED;
    say(lost ? "Connection lost: reload the page to go on" : "Connection lost: trying again", true);
  };
}

function close() {
  source?.close();
  source = null;
}

function renew(element, html) {
  const template = document.createElement("template");
  template.innerHTML = html; // rendered by our own server, which escapes all that others wrote
  become(element, template.content);
}

// Makes the children of `old` what those of `wanted` are; keeps every element that can stay.
function become(old, wanted) {
  let at = old.firstChild;
  for (const child of [...wanted.childNodes]) {
    const match = counterpart(at, child);
    if (!match) {
      old.insertBefore(child, at);
      continue;
    }
    while (at !== match) at = removed(at);
    at = match.nextSibling;
    if (match.isEqualNode(child)) continue;
    if (match.nodeType !== Node.ELEMENT_NODE) {
      match.nodeValue = child.nodeValue;
      continue;
    }
    copyAttributes(match, child);
    become(match, child);
  }
  while (at) at = removed(at);
}

// The same thing among those that are left: by id if it has one, else the next of its kind.
function counterpart(at, child) {
  if (child.id) {
    for (let each = at; each; each = each.nextSibling) if (each.id === child.id) return each;
    return null;
  }
  return at && !at.id && at.nodeName === child.nodeName ? at : null;
}

function removed(node) {
  const next = node.nextSibling;
  node.remove();
  return next;
}

// What is unfolded is for whoever reads to say.
function copyAttributes(old, wanted) {
  for (const { name } of [...old.attributes]) if (name !== "open" && !wanted.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of wanted.attributes) {
    if (name !== "open" && old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
}

// A browser keeps few connections to one server: pages that nobody looks at give theirs back.
document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
if (!document.hidden) open();
