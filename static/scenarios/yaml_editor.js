// An editor over each YAML field: highlighting, completion, and findings at their lines while typing. The field stays what is sent.
(() => {
  "use strict";
  const { EditorState, EditorView, keymap, lineNumbers, highlightActiveLine, drawSelection, defaultKeymap, history, historyKeymap, syntaxHighlighting, HighlightStyle,
    indentOnInput, bracketMatching, indentUnit, autocompletion, completionKeymap, linter, lintGutter, lintKeymap, yaml, tags } = window.CodeMirror;

  const LOOK = EditorView.theme({
    "&": { border: "1px solid var(--line-strong)", borderRadius: "0.375rem", background: "var(--surface)", color: "var(--ink)", fontSize: "var(--text-small)" },
    "&.cm-focused": { outline: "3px solid var(--focus)", outlineOffset: "2px" },
    ".cm-scroller": { fontFamily: "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace", lineHeight: "1.5", maxHeight: "36rem" },
    ".cm-content, .cm-gutter": { minHeight: "9rem" },
    ".cm-content": { caretColor: "var(--ink)" },
    ".cm-cursor": { borderLeftColor: "var(--ink)" },
    ".cm-gutters": { background: "var(--surface-raised)", color: "var(--ink-soft)", borderRight: "1px solid var(--line)" },
    ".cm-activeLine": { background: "color-mix(in srgb, var(--info-ground) 60%, transparent)" },
    "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { background: "var(--info-ground) !important" },
    ".cm-tooltip, .cm-panels": { background: "var(--surface)", color: "var(--ink)", border: "1px solid var(--line-strong)" },
    ".cm-tooltip-autocomplete ul li[aria-selected]": { background: "var(--action)", color: "var(--action-ink)" },
    ".cm-panel.cm-panel-lint ul [aria-selected]": { background: "var(--info-ground)", color: "var(--ink)" },
    ".cm-panel.cm-panel-lint button[name=close]": { color: "var(--ink)" },
  });
  const COLOURS = HighlightStyle.define([
    { tag: tags.comment, color: "var(--ink-soft)", fontStyle: "italic" },
    { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--info)" },
    { tag: [tags.string, tags.attributeValue], color: "var(--good)" },
    { tag: [tags.keyword, tags.bool, tags.number, tags.null], color: "var(--warn)" },
  ]);

  // Which names can stand here: of actions, plugins, switches, or the arguments of the entry above.
  const complete = (words) => (context) => {
    const line = context.state.doc.lineAt(context.pos);
    const before = line.text.slice(0, context.pos - line.from);
    const word = context.matchBefore(/[\w.-]*/);
    if (!context.explicit && word.from === word.to) return null;
    const offer = (names, type, apply = "") => ({ from: word.from, options: names.map((label) => ({ label, type, apply: label + apply })), validFor: /^[\w.-]*$/ });
    if (/^\s*actions:/.test(before)) return offer(words.actions, "function");
    const above = [];
    for (let number = line.number; number > 0 && above.length < 200; number -= 1) above.push(context.state.doc.line(number).text);
    const isConfiguration = above.find((text) => /^(tiers|configurations):/.test(text))?.startsWith("configurations") ?? false;
    const known = isConfiguration ? words.configurations : words.plugins;
    if (/name:\s*["']?[\w.-]*$/.test(before)) return offer(Object.keys(known), "class");
    if (!/^\s+[\w.-]*$/.test(before)) return null;
    const depth = before.search(/\S|$/);
    const parent = above.slice(1).find((text) => text.trim() && text.search(/\S/) < depth && !text.trim().startsWith("#")) ?? "";
    if (/arguments:\s*$/.test(parent)) {
      const name = above.map((text) => /name:\s*["']?([\w.-]+)/.exec(text)?.[1]).find(Boolean);
      return offer(known[name] ?? [], "property", ": ");
    }
    return offer([...(isConfiguration ? [] : words.switches), "arguments"], "property", ": ");
  };

  // Findings as the page below the text has them, at their lines.
  const SEVERITY = { error: "error", warning: "warning" };
  const findings = (field) => async (view) => {
    const token = JSON.parse(document.body.getAttribute("hx-headers"))["X-CSRFToken"];
    const body = JSON.stringify({ text: view.state.doc.toString(), ...(field.dataset.release && { release: field.dataset.release }) });
    const answer = await fetch(field.dataset.lint, { method: "POST", body, headers: { "Content-Type": "application/json", "X-CSRFToken": token } });
    if (!answer.ok) return [];
    const { problems } = await answer.json();
    return problems.filter((problem) => problem.line && problem.line <= view.state.doc.lines).map((problem) => {
      const line = view.state.doc.line(problem.line);
      const from = line.from + Math.max(0, line.text.search(/\S/));
      return { from, to: Math.max(from, line.to), severity: SEVERITY[problem.severity] ?? "info", source: problem.rule, message: [problem.message, problem.fix].filter(Boolean).join(" ") };
    });
  };

  const edit = (field) => {
    const label = document.querySelector(`label[for="${field.id}"]`);
    const host = document.createElement("div");
    host.className = "yaml";
    field.after(host);
    const root = host.attachShadow({ mode: "open" });
    const words = field.dataset.words && JSON.parse(field.dataset.words);
    const view = new EditorView({
      root,
      parent: root,
      doc: field.value,
      extensions: [
        lineNumbers(), history(), drawSelection(), highlightActiveLine(), indentOnInput(), bracketMatching(), indentUnit.of("  "), yaml(), LOOK, syntaxHighlighting(COLOURS),
        words ? autocompletion({ override: [complete(words)] }) : [],
        field.dataset.lint ? [linter(findings(field), { delay: 300 }), lintGutter()] : [],
        keymap.of([...completionKeymap, ...lintKeymap, ...defaultKeymap, ...historyKeymap]),
        EditorState.readOnly.of(field.readOnly),
        EditorView.contentAttributes.of({ "aria-label": field.dataset.yaml, "aria-readonly": String(field.readOnly) }),
        EditorView.updateListener.of((update) => { if (update.docChanged) field.value = view.state.doc.toString(); }),
      ],
    });
    view.scrollDOM.tabIndex = 0; // a region that scrolls is reached by keyboard, also when the text is read-only
    field.hidden = true;
    if (field.required) { field.required = false; view.contentDOM.setAttribute("aria-required", "true"); }
    label?.addEventListener("click", () => view.focus());
  };

  const start = (root) => root.querySelectorAll("textarea[data-yaml]:not([hidden])").forEach(edit);
  document.addEventListener("DOMContentLoaded", () => start(document));
  document.addEventListener("htmx:load", (event) => { if (event.detail.elt !== document.body) start(event.detail.elt); });
})();
