import { Fault } from "./layout.tsx";

interface TextFieldProps {
  label: string;
  name: string;
  /** Where a page has several fields of a name. */
  id?: string;
  value: string;
  fault?: string | undefined;
  isRequired?: boolean;
  isFirst?: boolean;
  charsMax?: number;
}

/** Maximum characters of a title, as pages take it. */
export const TITLE_CHARS_MAX = 255;

/** Maximum characters of a text, as in the API. */
export const TEXT_CHARS_MAX = 262_144;

/** A field for a text in Markdown. */
export function TextField(props: TextFieldProps) {
  const { label, name, id = name, value, fault, isRequired = false, isFirst = false } = props;
  const faultId = fault === undefined ? undefined : `${id}-fault`;
  return (
    <div class="field wide">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        name={name}
        rows={8}
        maxlength={props.charsMax ?? TEXT_CHARS_MAX}
        required={isRequired}
        autofocus={isFirst || fault !== undefined}
        aria-invalid={fault === undefined ? undefined : "true"}
        aria-describedby={faultId}
      >
        {/* A browser leaves out a line break at the beginning. */}
        {`\n${value}`}
      </textarea>
      <Fault id={faultId} text={fault} />
    </div>
  );
}
