// Shows a part of the page anew while what it tells of goes on. Our own server renders it again; nothing else is needed.

const MOMENT_MS = 2000;

async function renew() {
  const shown = document.querySelector("[data-under-way]");
  if (!shown) return; // it is over
  setTimeout(renew, MOMENT_MS);
  if (document.hidden) return;
  const answer = await fetch(location.href).catch(() => null);
  if (!answer?.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById(shown.id);
  if (!fresh || fresh.isEqualNode(shown)) return;
  const opened = new Set([...shown.querySelectorAll("details[open] > summary")].map((each) => each.textContent));
  for (const each of fresh.querySelectorAll("details > summary")) {
    if (opened.has(each.textContent)) each.parentElement.open = true; // what was unfolded stays so
  }
  shown.replaceWith(document.adoptNode(fresh));
}

setTimeout(renew, MOMENT_MS);
