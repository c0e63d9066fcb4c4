/** A button that copies a text. Without scripts it is not shown. */
export const CopyButton = ({ text }: { text: string }) => (
  <button type="button" class="scripted" data-copy={text} aria-live="polite">
    Copy
  </button>
);
