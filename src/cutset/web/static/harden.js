// The curve to drag along: a native slider and the mark on the curve move together, by mouse, touch and keys. What the
// budget buys is asked of the server, which renders it; what was asked once is kept.

const form = document.getElementById("settings");
const slider = document.getElementById("position");
if (form) form.addEventListener("submit", leaveOutWhatIsUsual);
if (slider) follow();

// So that addresses stay short: of hundreds of costs, those that were changed.
function leaveOutWhatIsUsual() {
  const usual = [...form.elements].filter((each) => "usual" in each.dataset && each.value === each.dataset.usual);
  for (const each of usual) each.disabled = true;
  setTimeout(() => usual.forEach((each) => (each.disabled = false)));
}

function asked() {
  const changed = (name) => {
    const field = form.elements.namedItem(name);
    return !field?.dataset || field.value !== field.dataset.usual;
  };
  return new URLSearchParams([...new FormData(form)].filter(([name, value]) => value !== "" && changed(name)));
}

function follow() {
  const points = JSON.parse(slider.dataset.points); // budget, coverage, and where that is in the picture
  const picture = document.querySelector("#curve svg");
  const mark = picture.querySelector(".handle");
  const told = picture.querySelector(".of-budget");
  const number = document.getElementById("budget");
  const bottom = Number(mark.querySelector(".drop").getAttribute("y2")) + placeOf(mark)[1];
  const kept = new Map();
  let under_way = null;

  document.getElementById("along").hidden = false;
  tell(Number(slider.value));
  slider.addEventListener("input", () => show(Number(slider.value)));

  // The finger may scroll the page up and down; along the curve it drags.
  picture.style.touchAction = "pan-y";
  picture.style.cursor = "ew-resize";
  picture.addEventListener("pointerdown", (event) => {
    picture.setPointerCapture(event.pointerId);
    slider.focus({ preventScroll: true });
    drag(event);
    event.preventDefault();
  });
  picture.addEventListener("pointermove", (event) => event.buttons && drag(event));

  function drag(event) {
    const frame = picture.getBoundingClientRect();
    const x = ((event.clientX - frame.left) * picture.viewBox.baseVal.width) / frame.width;
    const nearest = points.reduce((best, point, at) => (Math.abs(point[2] - x) < Math.abs(points[best][2] - x) ? at : best), 0);
    if (Number(slider.value) === nearest) return;
    slider.value = nearest;
    show(nearest);
  }

  function show(position) {
    const [budget, , x, y] = points[position];
    mark.setAttribute("transform", `translate(${x} ${y})`);
    mark.querySelector(".drop").setAttribute("y2", bottom - y);
    told.textContent = tell(position);
    number.value = budget;
    load(asked().toString());
  }

  function tell(position) {
    const [budget, coverage] = points[position];
    const words = `Budget ${budget}: ${Math.round(100 * coverage)}% gone`;
    slider.setAttribute("aria-valuetext", words);
    return words;
  }

  async function load(query) {
    under_way?.abort();
    const asking = (under_way = new AbortController());
    try {
      if (!kept.has(query)) {
        const answer = await fetch(`/harden/choice?${query}`, { signal: asking.signal });
        if (!answer.ok) throw new Error(`${answer.status}`);
        kept.set(query, await answer.text());
      }
    } catch (error) {
      if (error.name !== "AbortError") document.getElementById("headline").textContent = "The dashboard does not answer";
      return;
    }
    if (asking.signal.aborted) return;
    history.replaceState(null, "", `/harden?${query}`);
    const parts = document.createElement("template");
    parts.innerHTML = kept.get(query); // rendered by our own server, which escapes all that others wrote
    const opened = new Set([...document.querySelectorAll("#details details[open] > summary")].map((each) => each.textContent));
    for (const part of [...parts.content.children]) {
      for (const each of part.querySelectorAll("details > summary")) {
        if (opened.has(each.textContent)) each.parentElement.open = true; // what was unfolded stays so
      }
      document.getElementById(part.id)?.replaceWith(part);
    }
  }
}

function placeOf(element) {
  return element.getAttribute("transform").match(/[\d.]+/g).map(Number);
}
