export { EditorState, StateField, StateEffect } from "@codemirror/state";
export { EditorView, keymap, lineNumbers, highlightActiveLine, highlightActiveLineGutter, drawSelection } from "@codemirror/view";
export { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
export { syntaxHighlighting, HighlightStyle, indentOnInput, bracketMatching, foldGutter, foldKeymap, indentUnit, syntaxTree } from "@codemirror/language";
export { autocompletion, completionKeymap, closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
export { linter, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
export { yaml } from "@codemirror/lang-yaml";
export { tags } from "@lezer/highlight";
