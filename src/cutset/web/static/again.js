// While something is being tried, the page looks again for what came of it.
const waiting = document.querySelector("[data-look-again]");
if (waiting) setTimeout(() => location.reload(), Number(waiting.dataset.lookAgain));
