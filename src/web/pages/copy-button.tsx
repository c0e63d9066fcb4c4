import { Icon } from "./icon.tsx";

interface CopyButtonProps {
  text?: string;
  /** The address of a file whose text is copied instead. */
  file?: string;
}

/** A button that copies a text. Without scripts it is not shown. */
export const CopyButton = ({ text, file }: CopyButtonProps) => (
  <button
    type="button"
    class="small scripted"
    data-copy={text}
    data-copy-file={file}
    aria-live="polite"
  >
    Copy
  </button>
);

interface CopyIconProps {
  text: string;
  /** What the text is: "the path". */
  subject: string;
}

/** A small button beside a name that copies it. Without scripts it is not shown. */
export const CopyIcon = ({ text, subject }: CopyIconProps) => (
  <button
    type="button"
    class="copy scripted"
    title={`Copy ${subject}`}
    data-copy={text}
    aria-live="polite"
  >
    <Icon name="copy" />
    <span class="hidden">{`Copy ${subject}`}</span>
  </button>
);
