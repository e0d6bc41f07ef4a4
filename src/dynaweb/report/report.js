"use strict";
// Everything that comes from a page, a model or a user is put in with textContent; no markup is ever made.
(() => {
  const root = document.documentElement;
  const make = (name, cls, text) => {
    const made = document.createElement(name);
    if (cls) made.className = cls;
    if (text !== undefined) made.textContent = text;
    return made;
  };

  const theme = document.getElementById("theme");
  const flip = () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  };
  theme.hidden = false;
  theme.addEventListener("click", flip);

  const links = new Map([...document.querySelectorAll("nav a")].map((a) => [a.hash.slice(1), a]));
  const here = new IntersectionObserver((seen) => {
    for (const { target, isIntersecting } of seen) {
      if (!isIntersecting) continue;
      for (const link of links.values()) link.removeAttribute("aria-current");
      links.get(target.id)?.setAttribute("aria-current", "true");
    }
  }, { rootMargin: "-20% 0px -70% 0px" });
  for (const section of document.querySelectorAll("main > section")) here.observe(section);

  const attempts = JSON.parse(document.getElementById("attempts").textContent);
  const viewer = document.getElementById("viewer");
  const list = document.getElementById("attempt-list");
  const stage = document.getElementById("attempt");
  let chosen = 0;
  let at = 0;

  const signs = { success: "\u2713 success", failure: "\u2717 failure", unknown: "? unknown" };
  const badge = (kind, text) => make("span", `badge ${kind}`, text);

  const item = (attempt, index) => {
    const row = make("li", attempt.world === "dream" ? "dream-item" : "");
    row.id = `attempt-${index}`;
    row.setAttribute("role", "option");
    row.append(badge(attempt.world, attempt.world), badge(attempt.outcome, signs[attempt.outcome]), make("b", "", attempt.task));
    row.append(make("br"), make("span", "quiet", `${attempt.arm}, seed ${attempt.seed}, ${attempt.steps.length} pages`));
    row.addEventListener("click", () => choose(index));
    return row;
  };

  const treeOf = (step) => {
    const tree = make("div", "tree");
    tree.tabIndex = 0;
    tree.setAttribute("role", "region");
    tree.setAttribute("aria-label", "page");
    const changed = new Set(step.changed);
    step.tree.forEach((line, i) => {
      const depth = line.length - line.replace(/^\t+/, "").length;
      const row = make("div", "", "  ".repeat(depth) + line.slice(depth));
      if (changed.has(i)) row.classList.add("changed");
      if (i === step.acted) row.classList.add("acted");
      if (i === step.focused) row.classList.add("focused");
      tree.append(row);
    });
    if (step.more) tree.append(make("div", "quiet", `\u2026 ${step.more} more lines`));
    return tree;
  };

  const told = (attempt, step) => {
    const rows = make("dl", "did-row");
    const add = (name, text, cls) => { if (text) rows.append(make("dt", "", name), make("dd", cls, text)); };
    add("error seen", step.error, "error");
    if (step.last) {
      add("the end", `${signs[attempt.outcome]}: ${attempt.reason}`, `action ${attempt.outcome === "success" ? "better" : "worse"}`);
      add("evidence", attempt.detail, "");
      return rows;
    }
    add("thought", step.thought, "");
    add("action", step.action, "action");
    add("reply", step.reply, "error");
    add("fault", step.fault, "error");
    return rows;
  };

  const film = (attempt) => {
    const strip = make("div", "film");
    attempt.steps.forEach((step, i) => {
      const dot = make("button", step.fault ? "faulty" : "", step.last ? "end" : String(i + 1));
      dot.type = "button";
      dot.title = step.last ? "the last page" : step.action;
      if (i === at) dot.setAttribute("aria-current", "step");
      dot.addEventListener("click", () => { at = i; show(); });
      strip.append(dot);
    });
    return strip;
  };

  const show = () => {
    const attempt = attempts[chosen];
    const step = attempt.steps[at];
    stage.replaceChildren();
    stage.classList.toggle("in-dream", attempt.world === "dream");
    const head = make("p", "");
    head.append(badge(attempt.world, attempt.world === "dream" ? "dream: imagined pages" : "live: real pages"), " ");
    head.append(badge(attempt.outcome, signs[attempt.outcome]), " ", make("span", "quiet", attempt.policy));
    if (attempt.model) head.append(make("span", "quiet", ` in ${attempt.model}`));
    stage.append(head, make("h3", "", attempt.goal || attempt.task), film(attempt));
    if (!step) {
      stage.append(make("p", "error", attempt.detail || "no page was seen"));
      return;
    }
    stage.append(make("div", "address", `${step.title}  ${step.url}`), treeOf(step), told(attempt, step));
  };

  const choose = (index) => {
    if (!attempts.length) return;
    chosen = Math.min(Math.max(index, 0), attempts.length - 1);
    at = 0;
    for (const row of list.children) row.setAttribute("aria-selected", String(row.id === `attempt-${chosen}`));
    list.setAttribute("aria-activedescendant", `attempt-${chosen}`);
    list.children[chosen].scrollIntoView({ block: "nearest" });
    show();
  };

  const move = (by) => {
    const last = attempts[chosen].steps.length - 1;
    at = Math.min(Math.max(at + by, 0), Math.max(last, 0));
    show();
  };

  const inSight = () => {
    const box = viewer.getBoundingClientRect();
    return box.top < innerHeight * 0.7 && box.bottom > innerHeight * 0.3;
  };

  if (viewer && attempts.length) {
    attempts.forEach((attempt, i) => list.append(item(attempt, i)));
    viewer.hidden = false;
    const scroll = scrollY;
    choose(0);
    scrollTo(0, scroll);
  }

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "t") return flip();
    if (!viewer || !attempts.length || !inSight()) return;
    if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      if (event.target.closest?.(".wide")) return;
      move(event.key === "ArrowLeft" ? -1 : 1);
      event.preventDefault();
    }
    const inList = document.activeElement === list;
    if (event.key === "j" || event.key === "k" || (inList && (event.key === "ArrowUp" || event.key === "ArrowDown"))) {
      choose(chosen + (event.key === "j" || event.key === "ArrowDown" ? 1 : -1));
      event.preventDefault();
    }
  });
})();
