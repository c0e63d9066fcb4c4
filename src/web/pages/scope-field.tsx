import { CATEGORY_WORDS, type Category } from "./scope-words.tsx";

/** The field of a category, whose value is "none" or a level. */
export const scopeFieldOf = (category: string): string => `scope-${category}`;

interface ScopeFieldProps {
  category: Category;
  value: string;
  /** The highest level that can be chosen. */
  most?: "read" | "write";
}

/** How much of a category a credential may do. */
export function ScopeField({ category, value, most = "write" }: ScopeFieldProps) {
  const name = scopeFieldOf(category);
  return (
    <div>
      <label for={name}>
        {category} <span class="soft">{CATEGORY_WORDS[category]}</span>
      </label>
      <select id={name} name={name}>
        <option value="none" selected={value === "none"}>
          Nothing
        </option>
        <option value="read" selected={value === "read"}>
          Read
        </option>
        {most === "write" ? (
          <option value="write" selected={value === "write"}>
            Read and change
          </option>
        ) : undefined}
      </select>
    </div>
  );
}
