interface CopyButtonProps {
  text?: string;
  /** The address of a file whose text is copied instead. */
  file?: string;
}

/** A button that copies a text. Without scripts it is not shown. */
export const CopyButton = ({ text, file }: CopyButtonProps) => (
  <button type="button" class="scripted" data-copy={text} data-copy-file={file} aria-live="polite">
    Copy
  </button>
);
