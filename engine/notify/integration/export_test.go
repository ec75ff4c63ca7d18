package integration

// Checked returns a config as it would be stored, for tests.
func (s *Service) Checked(kind string, config map[string]any, secrets map[string]string) (map[string]any, error) {
	t, err := findIntegrationType(kind)
	if err != nil {
		return nil, err
	}
	kept, err := normalizeConfig(s.Guard, t, config)
	if err != nil {
		return nil, err
	}
	given, err := normalizeSecrets(s.Guard, t, secrets)
	if err != nil {
		return nil, err
	}
	_, set, err := s.encryptSecrets(given)
	if err != nil {
		return nil, err
	}
	return kept, checkRequiredAndDependentFields(t, kept, set)
}
