import { pageFilePath } from "./page-file.ts";

/** A picture of the sprite, beside words that say the same. */
export function Icon({ name }: { name: string }) {
  return (
    <svg class="icon" aria-hidden="true">
      <use href={`${pageFilePath("icons.svg")}#${name}`} />
    </svg>
  );
}
