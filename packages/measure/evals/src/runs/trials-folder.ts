/** The folder of a run that contains the records of its trials. */
export const trialsFolder = "trials";
