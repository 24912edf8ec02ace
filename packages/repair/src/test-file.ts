/** Tells test files from source files: repair never changes the former. */

const TEST_FILE =
  /(^|\/)(test_[^/]*\.py|[^/]*_tests?\.py|tests?\.py|conftest\.py|[^/]*[.\-_](test|tests|spec|e2e)\.[cm]?[jt]sx?|(test|tests|spec)\.[cm]?[jt]sx?|(test|spec)[-_][^/]*\.[cm]?[jt]sx?)$/i;
const TEST_FOLDER =
  /(^|\/)(tests?|__tests__|specs?|e2e|testdata|fixtures|__fixtures__|__mocks__|__snapshots__)\//i;

/** True for tests, their fixtures and helpers, by the naming rules of the common runners. */
export function isTestFile(path: string): boolean {
  const plain = path.replaceAll("\\", "/");
  return TEST_FILE.test(plain) || TEST_FOLDER.test(plain);
}
